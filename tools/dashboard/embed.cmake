# cmake -D OUTPUT=<file.cpp> -D "ENTRIES=<name>=<file>|<file>;..." [-D HEADER=<assets.hpp>] -P embed.cmake
# Writes a source file with the bytes of files: one std::string_view per name, its files joined by a newline.
if(NOT HEADER)
  set(HEADER assets.hpp)
endif()
set(source "#include \"${HEADER}\"\n\nnamespace assay::cli::assets {\n")
foreach(entry IN LISTS ENTRIES)
  string(REGEX MATCH "^([a-z_]+)=(.*)$" matched "${entry}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "|" ";" files "${CMAKE_MATCH_2}")
  set(bytes "")
  foreach(file IN LISTS files)
    file(READ "${file}" content HEX)
    string(APPEND bytes "${content}0a")
  endforeach()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..," "\\0\n" bytes "${bytes}")
  string(APPEND source "namespace {\nconstexpr unsigned char ${name}_bytes[] = {\n${bytes}};\n}\n"
                       "std::string_view ${name}() {\n"
                       "  return {reinterpret_cast<const char*>(${name}_bytes), sizeof ${name}_bytes};\n}\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}\n}  // namespace assay::cli::assets\n")
