#pragma once

#include <nettle/base64.h>
#include <zlib.h>

#include <stdexcept>
#include <string>

namespace assay::tests {

/// Returns the JSON text of a report in an HTML report page. The page contains one report per line
/// and shows the first one.
inline std::string report_of_page(const std::string& html, int line = 0) {
  const std::string mark = "id=\"reports\">";
  const std::size_t element = html.find(mark);
  if (element == std::string::npos) throw std::runtime_error("the page has no element of reports");
  std::size_t begin = element + mark.size();
  for (int k = 0; k < line; ++k) begin = html.find('\n', begin) + 1;
  const std::string letters = html.substr(begin, html.find('\n', begin) - begin);
  base64_decode_ctx context;
  base64_decode_init(&context);
  std::string bytes(BASE64_DECODE_LENGTH(letters.size()), '\0');
  std::size_t size = bytes.size();
  if (base64_decode_update(&context, &size, reinterpret_cast<std::uint8_t*>(bytes.data()),
                           letters.size(), letters.data()) == 0)
    throw std::runtime_error("the page has text that is not base64");
  // The size of the buffer is sufficient for the small reports of the tests.
  std::string text(std::size_t{1} << 24, '\0');
  uLongf length = text.size();
  if (const int status = uncompress(reinterpret_cast<Bytef*>(text.data()), &length,
                                    reinterpret_cast<const Bytef*>(bytes.data()), size);
      status != Z_OK)
    throw std::runtime_error("zlib: status " + std::to_string(status));
  text.resize(length);
  return text;
}

}  // namespace assay::tests
