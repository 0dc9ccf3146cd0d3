<?php
echo hash('sha256', file_get_contents('php://input'));
