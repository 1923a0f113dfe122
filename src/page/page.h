/* The page of --format=html, compiled in: what stands before and behind its data. */
#ifndef FA_PAGE_H
#define FA_PAGE_H

extern const char page_head[], page_tail[];

#endif
