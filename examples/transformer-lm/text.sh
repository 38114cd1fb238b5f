#!/bin/sh
# Writes king-james.txt: Genesis to 1 Samuel of the King James Bible, a verse a line, from
# Debian's packages bible-kjv and bible-kjv-text (the translation of 1611 is in the public
# domain). Run it again only to check where the text comes from: the result is in the tree.
set -eu
cd "$(dirname "$0")"
bible -f -l1000000 gen1:1-1sa31:13 | sed 's/^[^ ]* //' > king-james.txt
wc -c king-james.txt
