<?php
header('Content-Type: text/plain');
echo "first\n";
flush();
// Until the other side says that it has read that.
while (!file_exists(__DIR__ . '/go')) {
    clearstatcache();
    usleep(10000);
}
echo "second\n";
