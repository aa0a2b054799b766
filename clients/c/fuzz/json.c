/* The JSON reader: what the checker takes must be read to its end, and the
 * cursor must keep within any text. */
#include "strata.h"

#include <stdlib.h>
#include <string.h>

static size_t walk(strata_json value, int depth) {
  char buffer[64];
  int64_t number;
  double real;
  bool truth;
  strata_json name, element;
  size_t count = 1;
  strata_json_string(value, buffer, sizeof buffer, NULL);
  strata_json_int(value, &number);
  strata_json_double(value, &real);
  strata_json_bool(value, &truth);
  strata_json_member(value, "a", &element);
  if (depth < 600)
    for (size_t position = 0; strata_json_next(value, &position, &name, &element);) count += walk(element, depth + 1);
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 4096) return 0;
  char *text = malloc(size + 1);
  if (text == NULL) return 0;
  memcpy(text, data, size);
  text = realloc(text, size == 0 ? 1 : size);
  strata_status status = strata_json_check(NULL, text, size);
  strata_json value = strata_json_of(text, size);
  if (status == STRATA_OK && strata_json_type(value) == 0) abort();
  walk(value, 0);
  free(text);
  return 0;
}
