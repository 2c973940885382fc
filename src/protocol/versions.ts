import { CodedError } from '../base/errors.ts';
import { quoted } from './quoted.ts';

/** Versions this server speaks, as `Major.Minor`; the newest last. */
const SUPPORTED_VERSIONS = ['1.0'] as const;
export type ProtocolVersion = (typeof SUPPORTED_VERSIONS)[number];

/** A patch number may stand behind the version and means nothing (A2A 1.0 §3.6). No leading zeros: 1.00 and 01.0 are other texts. */
const VERSION_1_0 = /^1\.0(\.(0|[1-9][0-9]*))?$/;

/**
 * The version a request asks for. `text` is what stood in the `A2A-Version` header, metadata or query, whichever
 * the binding lets win; none or an empty one means 0.3 (A2A 1.0 §3.6.2). Throws `version_not_supported`, and says what to send.
 */
export function negotiateVersion(text: string | undefined): ProtocolVersion {
  if (text !== undefined && VERSION_1_0.test(text)) return '1.0';
  const asked =
    text === undefined || text === ''
      ? 'No A2A-Version was sent, which means 0.3; this server speaks 1.0. Add the header "A2A-Version: 1.0".'
      : `A2A-Version ${quoted(text)} is not supported; this server speaks 1.0. Send the header "A2A-Version: 1.0".`;
  throw new CodedError('version_not_supported', {
    message: asked,
    metadata: { supportedVersions: SUPPORTED_VERSIONS.join(',') },
  });
}
