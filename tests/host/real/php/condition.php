<?php
$etag = '"version-1"';
header("ETag: $etag");
header('Cache-Control: no-cache');
if (($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === $etag) {
    http_response_code(304);
    exit;
}
if (isset($_GET['gone'])) {
    http_response_code(410);
}
if (isset($_GET['away'])) {
    header('Location: /php/form.php?from=away', true, 303);
}
echo "the page\n";
