#include "composed/body.hpp"

namespace assay::bench {

void composed_portable(const ComposedHead& head) { composed_body(head); }

}  // namespace assay::bench
