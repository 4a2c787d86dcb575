#!/usr/bin/env perl
# Plays any game; in Lepidoptery it looks at the board before it chooses.
#
#     fritillary match lepidoptery -s "stdio:perl thoughtful.pl" -s uniform
#
# JSON::PP comes with Perl. What an observation holds is told by the JSON Schemas of the
# game: fritillary game lepidoptery.

use strict;
use warnings;
use JSON::PP qw(encode_json decode_json);

$| = 1;    # write every answer at once

my %cards = (single => 1, pair => 2, triple => 3, run2 => 2, run3 => 3);
my $options;

while (my $line = <STDIN>) {
    my $told = decode_json($line);
    if ($told->{type} eq 'start') {
        $options = $told->{options};
        # What goes to standard error, or does not begin with a brace, is the log.
        print "I play $told->{full_id} at seat $told->{seat}\n";
    }
    elsif ($told->{type} eq 'ask') {
        my @legal = @{ $told->{legal} };
        srand($told->{seed});
        my ($best, $most);
        for my $each (@legal) {
            # What is equally good is left to chance.
            my $worth = rand();
            $worth += worth($told, $each->{action}) if $told->{game} eq 'lepidoptery';
            ($best, $most) = ($each, $worth) if !defined $most || $worth > $most;
        }
        # The note goes to the record; the opponent never sees it.
        my $note = sprintf 'worth %.1f of %d', $most, scalar @legal;
        print encode_json({ index => $best->{index}, note => $note }), "\n";
    }
}

# Winning is worth most, then a place where the opponent would win, then many cards.
sub worth {
    my ($told, $action) = @_;
    return 0 if $action->{type} eq 'pass';
    my $seen  = $told->{observation};
    my @order = @{ $options->{order} };
    my ($x) = grep { $order[$_] eq $action->{combo} } 0 .. $#order;
    my $worth = 2 * $cards{ $action->{combo} } - $action->{rank} / 10;
    $worth += 1000 if lines_up($seen->{columns}, $x, $told->{seat});
    $worth += 100  if lines_up($seen->{columns}, $x, 1 - $told->{seat});
    return $worth;
}

# Whether a seat's token on top of a column would lie in a line of four.
sub lines_up {
    my ($columns, $x, $seat) = @_;
    my $y = @{ $columns->[$x] };
    for my $way ([1, 0], [1, 1], [1, -1], [0, 1]) {
        my $count = 1;
        for my $sign (1, -1) {
            my ($i, $j) = ($x + $sign * $way->[0], $y + $sign * $way->[1]);
            while ($i >= 0 && $j >= 0 && $i < @$columns && $j < @{ $columns->[$i] }
                && $columns->[$i][$j] == $seat)
            {
                $count++;
                ($i, $j) = ($i + $sign * $way->[0], $j + $sign * $way->[1]);
            }
        }
        return 1 if $count >= 4;
    }
    return 0;
}
