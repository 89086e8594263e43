# Writes `int64_t rows, cols; /**< text */` as one field for each name, so that Doxygen shows
# the text for all of them.
/^typedef struct / { struct = $3 }
/^ +(const )?[a-z0-9_]+ +[*A-Za-z0-9_]+(, [*A-Za-z0-9_]+)+; +\/\*\*</ {
    end = index($0, ";")
    match($0, /^ +(const )?[a-z0-9_]+ +/)
    type = substr($0, 1, RLENGTH)
    count = split(substr($0, RLENGTH + 1, end - RLENGTH - 1), names, ", ")
    last = names[count]
    sub(/[*]/, "", last)
    for (i = 1; i < count; i++)
        printf "%s%s; /**< @copydoc %s::%s */", type, names[i], struct, last
    print type names[count] substr($0, end)
    next
}
{ print }
