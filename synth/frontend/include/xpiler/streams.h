// iostreams. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_XPILER_STREAMS_H
#define XPILER_XPILER_STREAMS_H
#include <algorithm>
#include <limits>
#include <string>
namespace std {
struct ios_base {
  using fmtflags = int;
  using openmode = int;
  static const fmtflags fixed = 1, scientific = 2, left = 4, right = 8, boolalpha = 16;
  static const openmode in = 1, out = 2, binary = 4, app = 8, trunc = 16, ate = 32;
  static bool sync_with_stdio(bool on = true);
};
using streamsize = long;
struct streampos_of { streampos_of(long); operator long() const; };
struct ios : ios_base {
  enum seekdir { beg, cur, end };
  explicit operator bool() const;
  bool operator!() const;
  bool good() const;
  bool fail() const;
  bool eof() const;
  bool is_open() const;
  fmtflags setf(fmtflags flags);
  streamsize precision(streamsize n);
  streamsize precision() const;
  streamsize width(streamsize n);
};
struct ostream : ios {
  template <class T> ostream &operator<<(const T &x);
  ostream &operator<<(ostream &(*manipulator)(ostream &));
  ostream &operator<<(ios_base &(*manipulator)(ios_base &));
  ostream &write(const char *s, streamsize n);
  ostream &put(char c);
  ostream &flush();
};
struct istream : ios {
  template <class T> istream &operator>>(T &x);
  istream &read(char *s, streamsize n);
  istream &getline(char *s, streamsize n);
  int get();
  istream &seekg(long offset);
  istream &seekg(long offset, seekdir from);
  long tellg();
};
struct iostream : ostream {
  template <class T> iostream &operator>>(T &x);
};
ostream &endl(ostream &s);
ostream &flush(ostream &s);
ios_base &fixed(ios_base &s);
ios_base &scientific(ios_base &s);
ios_base &left(ios_base &s);
ios_base &right(ios_base &s);
ios_base &boolalpha(ios_base &s);
ios_base &hex(ios_base &s);
ios_base &dec(ios_base &s);
struct manipulator {};
manipulator setw(int n);
manipulator setprecision(int n);
manipulator setfill(char c);
extern ostream cout, cerr, clog;
extern istream cin;
istream &getline(istream &s, string &line);
istream &getline(istream &s, string &line, char delimiter);
struct ofstream : ostream {
  ofstream();
  ofstream(const char *name, ios_base::openmode mode = 0);
  ofstream(const string &name, ios_base::openmode mode = 0);
  void open(const string &name, ios_base::openmode mode = 0);
  void close();
};
struct ifstream : istream {
  ifstream();
  ifstream(const char *name, ios_base::openmode mode = 0);
  ifstream(const string &name, ios_base::openmode mode = 0);
  void open(const string &name, ios_base::openmode mode = 0);
  void close();
};
struct fstream : iostream {
  fstream();
  fstream(const char *name, ios_base::openmode mode = 0);
  fstream(const string &name, ios_base::openmode mode = 0);
  void close();
};
struct stringstream : iostream {
  stringstream();
  stringstream(const string &s);
  string str() const;
};
struct ostringstream : ostream {
  ostringstream();
  string str() const;
};
struct istringstream : istream {
  istringstream(const string &s);
};
}
#endif
