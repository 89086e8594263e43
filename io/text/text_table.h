/* io/text/text_table.h - recognises text with numbers in columns, and Harwell-Boeing
   files. */
#ifndef HY_TEXT_TABLE_H
#define HY_TEXT_TABLE_H

/* Numbers in columns, after comments that begin with # or % and at most one line of
   headings. */
typedef struct hy_text_table {
    char separator; /* character between columns: tab, comma, semicolon or blank; 0 if the
                       text is no table */
    int columns;    /* number of columns in the first line of numbers, at least 2 */
    int has_words; /* 1: the first line of numbers also holds a word */
    const char *heading; /* start of the line of headings before the numbers; NULL: there
                            is none */
    const char *first;   /* start of the first line of numbers */
} hy_text_table;

/* Examines the first lines of the text, which ends in a 0. `separator` is the character
   between columns; 0: the first line shows it. */
hy_text_table hy_text_table_of(const char *text, char separator);

/* Returns 1 if the text, which ends in a 0, begins with a comment and holds nothing but
   comments and blank lines. */
int hy_is_comments(const char *text);

/* Returns 1 if the text, which ends in a 0, begins like a Harwell-Boeing or
   Rutherford-Boeing file: its second line holds whole numbers, and its third line a type
   such as RUA. */
int hy_is_harwell_boeing(const char *text);

#endif /* HY_TEXT_TABLE_H */
