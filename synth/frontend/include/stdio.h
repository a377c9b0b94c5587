// <stdio.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_STDIO_H
#define XPILER_STDIO_H

#include <stdarg.h>
#include <stddef.h>
typedef struct xp_file FILE;
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
#define EOF (-1)
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
XP_HOST_DEVICE_BEGIN
XP_C_BEGIN
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int sprintf(char *to, const char *format, ...);
int snprintf(char *to, size_t bytes, const char *format, ...);
int vprintf(const char *format, va_list arguments);
int vfprintf(FILE *file, const char *format, va_list arguments);
int vsnprintf(char *to, size_t bytes, const char *format, va_list arguments);
int scanf(const char *format, ...);
int sscanf(const char *s, const char *format, ...);
int fscanf(FILE *file, const char *format, ...);
int puts(const char *s);
int putchar(int c);
int fputs(const char *s, FILE *file);
int fputc(int c, FILE *file);
int getchar(void);
char *fgets(char *to, int n, FILE *file);
int fflush(FILE *file);
FILE *fopen(const char *name, const char *mode);
int fclose(FILE *file);
size_t fread(void *to, size_t bytes, size_t count, FILE *file);
size_t fwrite(const void *from, size_t bytes, size_t count, FILE *file);
int fseek(FILE *file, long offset, int origin);
long ftell(FILE *file);
void rewind(FILE *file);
int feof(FILE *file);
int ferror(FILE *file);
void perror(const char *s);
XP_C_END
XP_HOST_DEVICE_END
#ifdef __cplusplus
namespace std {
using ::FILE; using ::printf; using ::fprintf; using ::sprintf; using ::snprintf; using ::puts; using ::putchar; using ::fputs; using ::fflush; using ::fopen;
using ::fclose; using ::fread; using ::fwrite; using ::fseek; using ::ftell; using ::perror; using ::fgets; using ::sscanf; using ::scanf;
}
#endif
#endif
