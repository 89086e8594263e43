# Completions in bash, zsh and fish as a user types: commands, options, words, file names.
. "$(dirname "$0")/../lib.bash"
share=$HYBRID_BUILD/share
PATH=$(dirname "$HYBRID_SPMM"):$PATH
skipped=0
commands=$("$HYBRID_SPMM" --help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p')
mkdir -p folder config
: >"a matrix.mtx"
: >zebra.mtx

# options_of <command>: prints its long options, sorted
options_of() {
    "$HYBRID_SPMM" "$1" --help | grep -Eo '^  (-[a-zA-Z],|   ) --[a-z0-9-]*' | grep -o -- '--.*' | sort
}

# has <shell>: succeeds if the shell is installed
has() {
    command -v "$1" >/dev/null && return
    echo "$1 is not installed" >&2
    skipped=1
    return 1
}

# becomes <typed> <completed>: adds a line for type_in, and the line expected after TAB
lines=() wanted=()
becomes() {
    lines+=("hybrid_spmm $1")
    wanted+=("hybrid_spmm $2")
}

# type_in <shell> <argument>...: checks the completions of all added lines
type_in() {
    python3 "$here/typed.py" "${lines[@]}" -- "$@" >out 2>err || fail "$1: cannot type"
    printf '%s\n' "${wanted[@]}" | diff - out >&2 || fail "$1 completes otherwise (<: wanted)"
    lines=() wanted=()
}

# words_in_both: adds lines that bash and zsh complete in the same way
words_in_both() {
    becomes mul 'multiply '
    becomes 'multiply --tr' 'multiply --tra'
    becomes 'multiply --ver' 'multiply --verify '
    becomes 'multiply --type f3' 'multiply --type f32 '
    becomes 'multiply --backend=ho' 'multiply --backend=host '
    becomes 'multiply A.mtx --variant spmm.host' 'multiply A.mtx --variant spmm.host.rows '
    becomes 'multiply --threads z' 'multiply --threads z' # a number is expected, not a file
    becomes 'multiply z' 'multiply zebra.mtx '
    becomes 'multiply a' 'multiply a\ matrix.mtx '
    becomes 'multiply zebra.mtx -o fo' 'multiply zebra.mtx -o folder/'
    becomes 'info --output z' 'info --output zebra.mtx ' # info has no --output, so that a file is completed
    becomes 'generate rm' 'generate rmat:'
    becomes 'list z' 'list z'
}

if has bash; then
    loader=/usr/share/bash-completion/bash_completion
    if [ -r $loader ]; then
        cat >bashrc <<'R'
PS1='ready> '
. /usr/share/bash-completion/bash_completion
bind 'set enable-bracketed-paste off'
bind 'set bell-style none'
bind -x '"\C-t": printf "\n@@%s@@\n" "$READLINE_LINE"'
R
        words_in_both
        becomes 'multiply --ty' 'multiply --type '
        becomes '--vers' '--version '
        XDG_DATA_DIRS=$share type_in bash --noprofile --rcfile bashrc -i
    else
        echo "bash-completion is not installed" >&2
        skipped=1
    fi
    # each command completes all of its options and no others
    for command in $commands; do
        options_of "$command" >wanted
        bash -c '. "$1" && COMP_WORDS=(hybrid_spmm "$2" -) COMP_CWORD=2 && _hybrid_spmm 2>/dev/null
            printf "%s\n" "${COMPREPLY[@]}"' bash \
            "$share/bash-completion/completions/hybrid_spmm" "$command" | sort |
            diff wanted - >&2 || fail "bash has other options of $command"
    done
fi

if has zsh; then
    cat >config/.zshrc <<R
PS1='ready> '
fpath=($share/zsh/site-functions \$fpath)
unsetopt beep
autoload -Uz compinit && compinit -u -D
show() { print -r -- "@@\$BUFFER@@" }
zle -N show && bindkey '^T' show && bindkey '^I' complete-word
R
    words_in_both
    becomes 'multiply --ty' 'multiply --type='
    becomes 'multiply -o fo' 'multiply -o folder/'
    becomes '--vers' '--version '
    ZDOTDIR=$PWD/config type_in zsh -d -i
    for command in $commands; do
        options_of "$command" >wanted
        sed -n "/^ *$command)/,/ ;;/p" "$share/zsh/site-functions/_hybrid_spmm" |
            grep -Eo "('|,)--[a-z0-9-]*" | tr -d "'," | sort | diff wanted - >&2 ||
            fail "zsh has other options of $command"
    done
fi

if has fish; then
    # completes <line> <candidate>...: checks fish's list of candidates
    completes() {
        local line=$1
        shift
        XDG_DATA_DIRS=$share:/usr/share HOME=$PWD XDG_CONFIG_HOME=$PWD/config \
            fish -c 'complete -C $argv[1]' "hybrid_spmm $line" 2>err | cut -f 1 | sort >out
        { [ $# -eq 0 ] || printf '%s\n' "$@"; } | sort | diff - out >&2 || fail "fish completes '$line' otherwise"
    }
    completes mul multiply
    completes 'multiply --type ' f32 f64
    completes 'multiply --backend=h' --backend=host
    completes 'multiply --variant spmm.host' spmm.host.rows
    completes 'multiply --threads z'
    completes 'multiply z' zebra.mtx
    completes 'multiply -o fo' folder/
    completes 'generate rm' rmat:
    completes 'list z'
    for command in $commands; do
        completes "$command --" $(options_of "$command")
    done
fi
[ $skipped = 0 ] || exit 77
