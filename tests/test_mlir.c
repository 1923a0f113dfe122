/* The promises of src/mlir. */
#include "mlir/mlir.h"

#include <criterion/criterion.h>

Test(mlir, links) {
    cr_assert(true);
}
