#pragma once

#include <string_view>

namespace assay::spec {

/// A row of the specification's tables, and the entry points on which a call breaks it.
struct Expected {
  std::string_view id, refused_by;
};

inline constexpr std::string_view everywhere = "g1 g2 u1 u2 u3 u4", padded = "g1 g2", packed = "u1 u2 u3 u4",
                           all_but_u3 = "g1 g2 u1 u2 u4", packed_but_u3 = "u1 u2 u4",
                           packed_with_narrow_value = "u1 u2 u3";

/// The rows of the specification that some call breaks, and the entry points on which one does: its column "applies"
/// less those on which another row stands in front. Ids with a letter are readings of the row without.
inline constexpr Expected expected_rows[] = {
    {"FAG-C01", everywhere}, {"FAG-C02", everywhere}, {"FAG-C03", everywhere},
    {"FAG-C04", everywhere}, {"FAG-C05", packed}, {"FAG-C06", "u3"}, {"FAG-C07", everywhere},
    {"FAG-C08", "u3"}, {"FAG-C09", "u3"}, {"FAG-C10", "u3"}, {"FAG-C11", "u3 u4"},
    {"FAG-C12", all_but_u3}, {"FAG-C20", everywhere}, {"FAG-C20a", everywhere},
    {"FAG-C21", everywhere}, {"FAG-C21a", everywhere}, {"FAG-C21b", everywhere},
    {"FAG-C21c", everywhere}, {"FAG-C22", padded},
    {"FAG-C23", all_but_u3}, {"FAG-C23a", all_but_u3}, {"FAG-C23b", "g2 u2"}, {"FAG-C24", all_but_u3},
    {"FAG-C24a", "u1"}, {"FAG-C25", everywhere}, {"FAG-C26", everywhere}, {"FAG-C27", "u3"},
    {"FAG-C27a", "u3"}, {"FAG-C27b", "u3"}, {"FAG-C28", everywhere}, {"FAG-C28a", everywhere},
    {"FAG-C29", all_but_u3},
    {"FAG-C29a", all_but_u3}, {"FAG-C29c", "u1"}, {"FAG-C30", padded}, {"FAG-C31", packed},
    {"FAG-C32", everywhere}, {"FAG-C32a", packed_but_u3},
    {"FAG-C33", everywhere}, {"FAG-C34", everywhere}, {"FAG-C35", everywhere}, {"FAG-C35a", "u4"},
    {"FAG-C36", everywhere}, {"FAG-C36a", "u3"}, {"FAG-C37", everywhere}, {"FAG-C38", everywhere},
    {"FAG-C39", everywhere}, {"FAG-C40", padded}, {"FAG-C40a", padded}, {"FAG-C40b", padded},
    {"FAG-C41", padded}, {"FAG-C41a", "u4"}, {"FAG-C41b", padded}, {"FAG-C42", packed},
    {"FAG-C42a", packed}, {"FAG-C43", packed}, {"FAG-C43a", packed_but_u3}, {"FAG-C44", "u3"},
    {"FAG-C44a", all_but_u3}, {"FAG-C44b", all_but_u3}, {"FAG-C44c", everywhere}, {"FAG-C45", "u3"}, {"FAG-C46", everywhere},
    {"FAG-C46a", "u3"}, {"FAG-C46b", packed_but_u3}, {"FAG-C47", everywhere}, {"FAG-C47a", packed_with_narrow_value}, {"FAG-C48", everywhere}, {"FAG-C49", everywhere},
    {"FAG-C60", everywhere}, {"FAG-C61", "u3"}, {"FAG-C62", all_but_u3}, {"FAG-C63", everywhere},
    {"FAG-C64", padded}, {"FAG-C65", "u3"}, {"FAG-C66", packed_but_u3}, {"FAG-C67", everywhere},
    {"FAG-C67a", packed}, {"FAG-C67b", everywhere}, {"FAG-C68", everywhere}, {"FAG-C68a", everywhere}, {"FAG-C69", packed},
    {"FAG-C69a", packed}, {"FAG-C71", everywhere}, {"FAG-C71a", packed}, {"FAG-C72", all_but_u3},
    {"FAG-C73", all_but_u3}, {"FAG-C74", packed_but_u3}, {"FAG-C75", packed_but_u3},
    {"FAG-C76", "g2 u2"}, {"FAG-C77", "u3"}, {"FAG-C77a", "u3"}, {"FAG-C78", "g2 u2"},
    {"FAG-C79", all_but_u3}, {"FAG-C79a", packed_but_u3}, {"FAG-C79b", packed_but_u3},
    {"FAG-C80", "g2"},
    {"FAG-C81", all_but_u3}, {"FAG-C81a", packed_but_u3}, {"FAG-C82", packed_but_u3},
    {"FAG-C82a", packed_but_u3}, {"FAG-C83", "u4"}, {"TND-1", packed}, {"TND-2a", packed}, {"TND-3", packed},
    {"TND-3a", packed}, {"TND-5", packed},
};

/// Its rows that no call breaks.
inline constexpr std::string_view unrefused_rows[] = {
    "FAG-C29b", "FAG-C70", "FAG-C84", "FAG-C85", "FAG-C86", "FAG-C87", "FAG-C88", "FAG-C89",
    "FAG-C90", "FAG-C91", "FAG-C92", "FAG-C93", "FAG-P01", "FAG-P02", "FAG-P03", "FAG-P04", "FAG-P05", "FAG-P06", "FAG-P07",
    "FAG-P08", "FAG-P09", "FAG-P10", "FAG-P11", "FAG-P12", "FAG-P13", "FAG-P14",
    "FAG-P15", "FAG-P16", "FAG-P17", "FAG-P18", "TND-2", "TND-4", "TND-6", "TND-7",
    "API-1", "API-2", "API-3", "API-4", "API-5", "API-6", "API-7", "API-8", "API-9",
};

}  // namespace assay::spec
