/* tests/support/files/open_files.h - counts the files that this process has open. */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

/* Returns a number that grows by one with each open file. */
int count_open_files(void);

#endif /* OPEN_FILES_H */
