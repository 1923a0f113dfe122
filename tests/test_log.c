/* The promises of src/log. */
#include "log/log.h"

#include <criterion/criterion.h>

Test(log, links) {
    cr_assert(true);
}
