/* The promises of src/base. */
#include "base/base.h"

#include <criterion/criterion.h>

Test(base, links) {
    cr_assert(true);
}
