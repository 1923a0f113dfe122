/* The promises of src/source. */
#include "source/source.h"

#include <criterion/criterion.h>

Test(source, links) {
    cr_assert(true);
}
