//! The console blocks of the documentation, run as tests. There are none yet.
