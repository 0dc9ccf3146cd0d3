<?php
// It would be seen if the source were sent: never-to-be-seen.
setcookie('seen', 'a b', ['path' => '/php', 'httponly' => true]);
header('Set-Cookie: other=2', false);
header('Content-Type: text/plain; charset=utf-8');
foreach ($_GET as $name => $value) {
    echo "get $name: ", is_array($value) ? implode(',', $value) : $value, "\n";
}
foreach ($_POST as $name => $value) {
    echo "post $name: $value\n";
}
foreach ($_COOKIE as $name => $value) {
    echo "cookie $name: $value\n";
}
foreach ($_FILES as $name => $file) {
    echo "file $name: {$file['error']} {$file['size']} ", hash_file('sha256', $file['tmp_name']), "\n";
}
foreach (['REQUEST_METHOD', 'SCRIPT_NAME', 'PHP_SELF', 'PATH_INFO', 'QUERY_STRING'] as $name) {
    echo "$name: ", $_SERVER[$name] ?? '(none)', "\n";
}
