#pragma once
// The peers of Python, torch and Triton, which a child process measures.

#include "bench/matmul/problem.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::bench {

struct peer_time {
  std::string contestant, version;
  double cold = 0, burst = 0;
};
using peer_table = std::map<std::string, std::vector<peer_time>>;

inline std::string key_of(const problem& p) {
  return std::string(name_of(p.type)) + ":" + p.layout() + ":" + std::to_string(p.m) + "x" +
         std::to_string(p.n) + "x" + std::to_string(p.k) + "x" + std::to_string(p.batch);
}

inline std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> result;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char line[1024];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    result.emplace_back(line);
    while (!result.back().empty() && (result.back().back() == '\n' || result.back().back() == '\r'))
      result.back().pop_back();
  }
  pclose(pipe);
  return result;
}

inline std::string peers_command(const std::string& arguments) {
  const std::filesystem::path program = std::filesystem::path(__FILE__).parent_path() / "peers.py";
  return "python3 '" + program.string() + "' " + arguments;
}

inline peer_table python_peers(const std::vector<problem>& problems, double seconds) {
  std::string words = "--plain --seconds " + std::to_string(seconds / 2);
  for (const problem& p : problems) words += " " + key_of(p);
  peer_table result;
  for (const std::string& line : lines_of(peers_command(words))) {
    char type[16], layout[8], name[32], version[64], protocol[16];
    long long m = 0, n = 0, k = 0, batch = 0;
    double us = 0;
    if (std::sscanf(line.c_str(), "%15s %7s %lld %lld %lld %lld %31s %63s %15s %lf", type, layout, &m, &n, &k,
                    &batch, name, version, protocol, &us) != 10)
      continue;
    const std::string key = std::string(type) + ":" + layout + ":" + std::to_string(m) + "x" +
                            std::to_string(n) + "x" + std::to_string(k) + "x" + std::to_string(batch);
    std::vector<peer_time>& row = result[key];
    if (row.empty() || row.back().contestant != name) row.push_back({name, version});
    (std::string_view(protocol) == "cold" ? row.back().cold : row.back().burst) = us;
  }
  return result;
}

}  // namespace kaio::bench
