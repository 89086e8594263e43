# Manual pages are valid and contain every sentence of --help.
. "$(dirname "$0")/../lib.bash"
pages=$HYBRID_BUILD/share/man/man1
command -v mandoc >/dev/null && command -v man >/dev/null || exit 77

# has_text <page> <command>...: the page has the description, each option with its help,
# and each exit code or kind. Commands and examples have another layout there.
has_text() {
    local page=$1 line
    shift
    LC_ALL=C.UTF-8 MANWIDTH=1000 man --no-hyphenation -l "$pages/$page" 2>err >out ||
        fail "man cannot show $page"
    tr -s ' \n' ' ' <out >shown
    "$HYBRID_SPMM" "$@" --help | sed '/^usage:/d; /^commands/,/^$/d; /^examples/,$d' |
        awk '/^ {6,}[^ -]/ { sub(/^ +/, " "); printf "%s", $0; next } # continues on the next line
             { sub(/^ +/, ""); printf "\n%s", $0 }' | tr -s ' ' |
        grep -vE "^(|options|kinds|exit codes|'hybrid_spmm COMMAND.*)$" >sentences
    [ -s sentences ] || fail "there is no help of $page"
    while read -r line; do
        grep -qF -- "$line" shown || fail "$page does not have: $line"
    done <sentences
}

count=0
for page in hybrid_spmm.1 $(cd "$pages" && echo hybrid_spmm-*.1); do
    mandoc -T lint "$pages/$page" >err 2>&1 && [ ! -s err ] || fail "mandoc has warnings"
    LC_ALL=C.UTF-8 man --warnings -l "$pages/$page" >out 2>err
    [ ! -s err ] || fail "man has warnings"
    command=${page#hybrid_spmm} command=${command#-} command=${command%.1}
    # shellcheck disable=SC2086 # no command is no word
    has_text "$page" $command
    count=$((count + 1))
done
[ $count -eq $((1 + $("$HYBRID_SPMM" --help | sed -n '/^commands/,/^$/p' | grep -c '^  '))) ] ||
    fail "there are $count pages"
