// <string.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_STRING_H
#define XPILER_STRING_H

#include <stddef.h>
XP_HOST_DEVICE_BEGIN
XP_C_BEGIN
void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
char *strcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *strcat(char *to, const char *from);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *s, const char *part);
char *strtok(char *s, const char *delimiters);
char *strdup(const char *s);
char *strerror(int error);
XP_C_END
XP_HOST_DEVICE_END
#ifdef __cplusplus
namespace std {
using ::memcpy; using ::memmove; using ::memset; using ::memcmp; using ::strlen; using ::strcmp; using ::strncmp; using ::strcpy; using ::strncpy;
using ::strcat; using ::strchr; using ::strrchr; using ::strstr; using ::strtok; using ::strerror;
}
#endif
#endif
