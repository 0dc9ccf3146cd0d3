#!/usr/bin/perl
use strict;
use warnings;
use CGI;
use Digest::SHA;

my $form = CGI->new;
print $form->header(
    -type   => 'text/plain',
    -charset => 'utf-8',
    -cookie => [$form->cookie(-name => 'seen', -value => 'yes'), $form->cookie(-name => 'b', -value => '2')],
);
exit if $form->request_method eq 'HEAD';
print "$_: ", join(',', $form->multi_param($_)), "\n" for grep { $_ ne 'file' } $form->multi_param;
print "cookie: ", $form->cookie('one') // '', "\n";
if (my $file = $form->upload('file')) {
    my $hash = Digest::SHA->new(256)->addfile($file->handle)->hexdigest;
    my $type = $form->uploadInfo($form->param('file'))->{'Content-Type'};
    print "file: $hash $type ", $form->param('file'), "\n";
}
