#!/usr/bin/env perl
# A form that answers itself: reads fields from the query or from a form-encoded body, and escapes what it shows.
use strict;
use warnings;

my $limit = 64 * 1024;

sub decode {
    my ($word) = @_;
    $word =~ tr/+/ /;
    $word =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    return $word;
}

sub escape {
    my ($text) = @_;
    my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', "'" => '&#39;');
    $text =~ s/([&<>"'])/$entity{$1}/g;
    return $text;
}

my $input = $ENV{QUERY_STRING} // '';
if (($ENV{REQUEST_METHOD} // '') eq 'POST') {
    my $length = $ENV{CONTENT_LENGTH} || 0;
    if ($length > $limit) {
        print "Status: 413 Content Too Large\nContent-Type: text/plain\n\nat most $limit bytes\n";
        exit 0;
    }
    $input = '';
    while ($length > length $input) {
        my $got = read STDIN, $input, $length - length $input, length $input;
        last unless $got;
    }
}

my %field;
for my $pair (split /[&;]/, $input) {
    my ($name, $value) = map { decode($_) } (split(/=/, $pair, 2), '', '');
    $field{$name} = $value if length $name;
}

print "Content-Type: text/html; charset=utf-8\n\n";
print "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Form</title>\n";
print "<form method=\"post\"><p><label>Name <input name=\"name\"></label>\n";
print "<p><label>Message <textarea name=\"message\"></textarea></label>\n<p><button>Send</button></form>\n";
if (%field) {
    print "<dl>\n";
    print '<dt>', escape($_), '</dt><dd>', escape($field{$_}), "</dd>\n" for sort keys %field;
    print "</dl>\n";
}
print "</html>\n";
