# scripts/dependencies.awk - writes the dependency graph of a Debian package index as a matrix.
#
# Reads paragraphs of `apt-cache dumpavail` or /var/lib/dpkg/status. Entry (i, j) exists if package
# i names package j in Depends, Pre-Depends, Recommends or Suggests. Each alternative of `a | b`
# counts; names without a paragraph (virtual packages) do not. The matrix is written to standard
# output, and the package name of each row to a line of -v names=FILE.

# A continued line belongs to the field above it.
/^[^ \t]/ { field = ""; if (match($0, /^[^:]+:/)) field = substr($0, 1, RLENGTH - 1) }
/^Package:/ { current = ($2 in row) ? 0 : ++rows; if (current) { row[$2] = rows; name[rows] = $2 } }
current && (field == "Depends" || field == "Pre-Depends" || field == "Recommends" || field == "Suggests") {
    sub(/^[A-Z][A-Za-z-]*:/, "")
    wants[current] = wants[current] "," $0
}

# Finds the columns of row i, each once. Versions, architectures and build restrictions are removed.
function columns(i,    part, count, k, word, found, seen)
{
    count = split(wants[i], part, /[,|]/)
    found = 0
    for (k = 1; k <= count; k++) {
        word = part[k]
        gsub(/\([^)]*\)|\[[^]]*\]|<[^>]*>|[ \t]/, "", word)
        sub(/:.*/, "", word)
        if ((word in row) && !(word in seen)) {
            seen[word]
            column[++found] = row[word]
        }
    }
    return found
}

END {
    for (i = 1; i <= rows; i++) {
        print name[i] >names
        found = columns(i)
        for (k = 1; k <= found; k++)
            entry[++entries] = i " " column[k]
    }
    print "%%MatrixMarket matrix coordinate pattern general"
    print "% Debian packages: the row's package depends on, recommends or suggests the column's."
    print rows, rows, entries + 0
    for (k = 1; k <= entries; k++)
        print entry[k]
}
