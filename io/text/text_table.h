/* io/text/text_table.h - text that holds numbers in columns, or a matrix in a format of
   old. */
#ifndef HY_TEXT_TABLE_H
#define HY_TEXT_TABLE_H

/* Numbers in columns, behind comments that begin with # or % and at most one line of
   headings. */
typedef struct hy_text_table {
    char separator; /* tab, comma, semicolon or blank; 0 if the text is no table */
    int columns;    /* of the first line of numbers, 2 or more */
    int has_header; /* a line of headings is in front of the numbers */
    int has_words;  /* the line of numbers holds a word as well */
} hy_text_table;

/* Looks at the first lines of the text, which ends in a 0. */
hy_text_table hy_text_table_of(const char *text);

/* Returns 1 if the text, which ends in a 0, begins like a Harwell-Boeing or Rutherford-Boeing
   file: its second line holds whole numbers and its third line a type such as RUA. */
int hy_is_harwell_boeing(const char *text);

#endif /* HY_TEXT_TABLE_H */
