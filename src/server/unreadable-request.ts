import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { CodedError } from '../base/errors.ts';
import type { Faults } from '../bindings/http/fault.ts';
import { statusBody } from '../bindings/http/status-body.ts';

interface Refusal {
  readonly status: number;
  readonly message: string;
}

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'The headers of the request are too large. Send fewer or shorter ones.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time. Send it again.' },
};
const UNREADABLE: Refusal = { status: 400, message: 'What was sent is no HTTP request that this server can read.' };

/**
 * The answer to what Node could not read as a request. Nobody knows which door it was for, so it has the shape of the
 * native API and of HTTP+JSON. A client that has gone is answered nothing.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket, faults: Faults): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, message } = REFUSALS[error.code ?? ''] ?? UNREADABLE;
  const fault = faults.of(new CodedError('invalid_request', { message }));
  const body = JSON.stringify(statusBody({ ...fault, wire: { ...fault.wire, http: status } }));
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
