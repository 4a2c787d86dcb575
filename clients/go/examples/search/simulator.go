package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	pb "fritillary.example/clients/go/api/v1"
)

// addressVariable names a simulator that runs already.
const addressVariable = "FRITILLARY_SIMULATOR"

// connect returns a simulator, which is started where none is named.
func connect() (pb.SimulatorServiceClient, error) {
	address := os.Getenv(addressVariable)
	if address == "" {
		var err error
		if address, err = start(); err != nil {
			return nil, fmt.Errorf("no simulator: %w; start one with 'fritillary simulate', "+
				"and set %s to its address", err, addressVariable)
		}
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	return pb.NewSimulatorServiceClient(conn), nil
}

// start starts a simulator and returns its address. It ends when its standard input does,
// which is when this program ends, in whichever way.
func start() (string, error) {
	command := exec.Command("fritillary", "simulate", "--listen", "127.0.0.1:0", "--attached")
	command.Stderr = os.Stderr
	if _, err := command.StdinPipe(); err != nil {
		return "", err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := command.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, listens := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !listens {
		return "", fmt.Errorf("fritillary simulate said %q", line)
	}
	// The command holds the other end of the pipe.
	go func() { _ = command.Wait() }()
	return address, nil
}
