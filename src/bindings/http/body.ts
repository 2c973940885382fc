import { CodedError } from '../../base/errors.ts';
import { jsonShape } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { essenceOf } from '../../base/media-type.ts';
import type { HttpRequest } from './exchange.ts';

const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/a2a+json']);
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * The JSON of a request. Undefined for an empty body. Throws `unsupported_media_type`, or `parse_error` that says what
 * is wrong: not UTF-8, not JSON, or nested so deep that a parser's stack would be the sender's to spend.
 */
export function readJson(request: HttpRequest): unknown {
  if (request.body.length === 0) return undefined;
  checkContentType(request);
  const text = decodeText(request.body);
  const { depth, values } = jsonShape(text);
  if (depth > limits.jsonDepthMax) {
    throw parseError(`The JSON is nested ${depth} levels deep; ${limits.jsonDepthMax} are allowed.`);
  }
  if (values > limits.jsonValuesMax) {
    throw parseError(
      `The JSON holds ${values} values; ${limits.jsonValuesMax} are allowed. Send large data as a file.`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw parseError(`The body is not JSON: ${(cause as Error).message}`);
  }
}

/** Both JSON types are taken, with any charset that is UTF-8, as they are: nothing here unpacks a body. */
export function checkContentType(request: HttpRequest): void {
  const encoding = request.headers['content-encoding']?.trim() ?? '';
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new CodedError('unsupported_media_type', {
      message: `Content-Encoding was ${JSON.stringify(encoding.slice(0, 80))}. Send the body without one.`,
    });
  }
  const header = request.headers['content-type'];
  const charset = /;\s*charset="?([^";]+)"?/i.exec(header ?? '')?.[1];
  const isUtf8 = charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset.trim());
  if (JSON_TYPES.has(essenceOf(header ?? '')) && isUtf8) return;
  const given = header === undefined ? 'none' : JSON.stringify(header.slice(0, 80));
  throw new CodedError('unsupported_media_type', {
    message: `Content-Type was ${given}. Send "application/json" or "application/a2a+json" in UTF-8.`,
  });
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw parseError('The body is not UTF-8.');
  }
}

function parseError(message: string): CodedError {
  return new CodedError('parse_error', { message });
}
