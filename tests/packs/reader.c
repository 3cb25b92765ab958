/* Reads a pack with libhdf5 alone. Usage: reader goldens.h5 /CASE/OUTPUT, or reader inputs.h5
   /DIGEST. Prints the number of goldens with the sums of their values and places, or the number of
   bytes of an input with their sum. */
#include <hdf5.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
  int64_t place;
  double value, radius;
  float tau, rounded;
};

/* The records in this machine's layout; members are found by their names. */
static hid_t golden_type(void) {
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct golden));
  H5Tinsert(type, "place", HOFFSET(struct golden, place), H5T_NATIVE_INT64);
  H5Tinsert(type, "value", HOFFSET(struct golden, value), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "radius", HOFFSET(struct golden, radius), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "tau", HOFFSET(struct golden, tau), H5T_NATIVE_FLOAT);
  H5Tinsert(type, "rounded", HOFFSET(struct golden, rounded), H5T_NATIVE_FLOAT);
  return type;
}

static int fail(const char* what) {
  fprintf(stderr, "%s cannot be read\n", what);
  return 1;
}

static int print_goldens(hid_t data, size_t count, const char* name) {
  struct golden* goldens = malloc(count * sizeof *goldens + 1);
  double values = 0;
  int64_t places = 0;
  if (!goldens || H5Dread(data, golden_type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, goldens) < 0)
    return fail(name);
  for (size_t k = 0; k < count; ++k) {
    values += goldens[k].value;
    places += goldens[k].place;
  }
  printf("%zu %a %" PRId64 "\n", count, values, places);
  free(goldens);
  return 0;
}

/* Prints in the type of the file: bf16 and fp16 as bit patterns. */
static int print_input(hid_t data, hid_t type, size_t count, const char* name) {
  const size_t bytes = count * H5Tget_size(type);
  unsigned char* elements = malloc(bytes + 1);
  uint64_t sum = 0;
  if (!elements || H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) < 0)
    return fail(name);
  for (size_t k = 0; k < bytes; ++k) sum += elements[k];
  printf("%zu %" PRIu64 "\n", bytes, sum);
  free(elements);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return fail("a pack without file and path");
  const hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = file < 0 ? -1 : H5Dopen2(file, argv[2], H5P_DEFAULT);
  if (data < 0) return fail(argv[2]);
  const size_t count = (size_t)H5Sget_simple_extent_npoints(H5Dget_space(data));
  const hid_t type = H5Dget_type(data);
  return H5Tget_class(type) == H5T_COMPOUND ? print_goldens(data, count, argv[2])
                                            : print_input(data, type, count, argv[2]);
}
