package codec

// EncodeHelloRequest returns the body of a Hello action.
func EncodeHelloRequest(r HelloRequest) ([]byte, error) { return nil, nil }

// DecodeHelloRequest reads the body of a Hello action.
func DecodeHelloRequest(data []byte) (HelloRequest, error) { return HelloRequest{}, nil }

// EncodeHello returns the result of a Hello action.
func EncodeHello(h *Hello) ([]byte, error) { return nil, nil }

// DecodeHello reads the result of a Hello action.
func DecodeHello(data []byte) (*Hello, error) { return nil, nil }
