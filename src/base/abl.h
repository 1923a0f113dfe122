#include <stdlib.h>
#include <string.h>
static inline int ABL(const char *n){const char*e=getenv("ABL");return e&&strstr(e,n);}
