"""The programs of cgx that train without a framework, with the libraries that they compute with."""
