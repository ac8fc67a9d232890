#pragma once
// Files, by paths in UTF-8: what differs between systems.

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace kaio::host {

// Opens a file for reading bytes; null, with errno: that is not possible. Programs that this one starts do not inherit it.
std::FILE* open_to_read(const std::string& path);

// The path as the standard library takes it, also if it is long.
std::filesystem::path path_of(const std::string& path);

// Replaces or creates a file, as write_file says. flush: the new content is on the disk before it takes the old one's place.
// Throws std::system_error.
void replace_file(const std::string& path, std::initializer_list<std::string_view> pieces, bool flush);

}  // namespace kaio::host
