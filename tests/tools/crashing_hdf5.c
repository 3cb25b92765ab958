// A library that is loaded before HDF5 (LD_PRELOAD). It crashes when HDF5 opens a file for reading
// or for writing, as ASSAY_TEST_CRASH selects. Damaged files are not used for this test, because
// each version of HDF5 crashes on other files.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

hid_t H5Fopen(const char* name, unsigned flags, hid_t access) {
  const char* const crash = getenv("ASSAY_TEST_CRASH");
  const char* const use = (flags & H5F_ACC_RDWR) != 0 ? "write" : "read";
  if (crash != NULL && strcmp(crash, use) == 0) raise(SIGSEGV);
  hid_t (*real)(const char*, unsigned, hid_t) = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "H5Fopen");
  return real(name, flags, access);
}
