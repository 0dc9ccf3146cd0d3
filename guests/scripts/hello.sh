#!/bin/sh
# A CGI program is this little: a header line, a blank line, a body.
printf 'Content-Type: text/plain\n\n'
printf 'Hello from a shell script. You asked for %s%s with %s.\n' "$SCRIPT_NAME" "${PATH_INFO:-}" "$REQUEST_METHOD"
