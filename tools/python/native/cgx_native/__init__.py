"""The programs of cgx that train without a framework, and the libraries that they compute with."""
