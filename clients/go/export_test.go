package fritillary

import (
	"net"

	"google.golang.org/grpc"

	pb "fritillary.example/clients/go/api/v1"
)

// ArenaForExamples starts a server that plays one match with every bot, for the examples.
func ArenaForExamples() (address string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	arena := &examples{}
	server := grpc.NewServer()
	pb.RegisterBotServiceServer(server, arena)
	pb.RegisterCatalogServiceServer(server, newTable())
	go func() { _ = server.Serve(listener) }()
	return listener.Addr().String(), server.Stop
}

type examples struct {
	pb.UnimplementedBotServiceServer
}

func (e *examples) Connect(stream grpc.BidiStreamingServer[pb.ConnectRequest, pb.ConnectResponse]) error {
	for {
		frame, err := stream.Recv()
		if err != nil {
			return nil
		}
		for _, message := range frame.GetMessages() {
			answer := &pb.ConnectResponse{}
			switch message.GetMessage().(type) {
			case *pb.BotMessage_Hello:
				answer.Messages = append(answer.Messages, &pb.ServerMessage{
					Message: &pb.ServerMessage_Welcome{Welcome: &pb.Welcome{
						SessionToken: "session", Encoding: pb.Encoding_ENCODING_MSGPACK,
					}},
				}, offer("m"))
			case *pb.BotMessage_Ready:
				answer.Messages = append(answer.Messages, ask("m", 1))
			case *pb.BotMessage_Decision:
				answer.Messages = append(answer.Messages, ended("m"))
			}
			if err := stream.Send(answer); err != nil {
				return nil
			}
		}
	}
}
