/* The functions of libarchive, which is loaded when a packed input is met. Private to the folder. */
#ifndef FA_ARCHIVE_H
#define FA_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>

#define ARCHIVE_FUNCTIONS(F)                                                                                           \
    F(archive_entry_filetype)                                                                                          \
    F(archive_entry_pathname)                                                                                          \
    F(archive_errno)                                                                                                   \
    F(archive_error_string)                                                                                            \
    F(archive_filter_bytes)                                                                                            \
    F(archive_filter_code)                                                                                             \
    F(archive_filter_count)                                                                                            \
    F(archive_read_data)                                                                                               \
    F(archive_read_free)                                                                                               \
    F(archive_read_new)                                                                                                \
    F(archive_read_next_header)                                                                                        \
    F(archive_read_open_memory)                                                                                        \
    F(archive_read_set_format_option)                                                                                  \
    F(archive_read_support_filter_bzip2)                                                                               \
    F(archive_read_support_filter_gzip)                                                                                \
    F(archive_read_support_filter_xz)                                                                                  \
    F(archive_read_support_filter_zstd)                                                                                \
    F(archive_read_support_format_empty)                                                                               \
    F(archive_read_support_format_raw)                                                                                 \
    F(archive_read_support_format_tar)                                                                                 \
    F(archive_read_support_format_zip_seekable)

struct libarchive {
    void *handle;
#define F(name) __typeof__ (&(name))(name);
    ARCHIVE_FUNCTIONS(F)
#undef F
};

/* False where it is not installed. */
bool libarchive_load(struct libarchive *lib);
void libarchive_unload(struct libarchive *lib);

#endif
