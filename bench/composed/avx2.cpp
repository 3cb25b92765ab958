#include "composed/body.hpp"

namespace assay::bench {

void composed_avx2(const ComposedHead& head) { composed_body(head); }

}  // namespace assay::bench
