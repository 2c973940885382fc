import { limits } from '../base/limits.ts';
import type { SessionNo } from '../model/ids.ts';
import type { Session } from '../model/session.ts';
import { rowsOf } from './find-task.ts';
import { type Listing, readPageToken, writePageToken } from './page-token.ts';
import type { Verb } from './verb.ts';

/** Sessions of the caller, newest first. */
export const listSessions: Verb<
  { readonly pageSize?: number; readonly pageToken?: string },
  { readonly sessions: readonly Session[]; readonly nextPageToken: string }
> = {
  async run(parts, call, { pageSize, pageToken }) {
    const listing: Listing = { secrets: parts.secrets, call, of: 'sessions', filters: {} };
    const after = pageToken === undefined ? undefined : (readPageToken(listing, pageToken).no as SessionNo);
    const page = await rowsOf(parts, call).listSessions({
      pageItems: pageSize ?? limits.pageItemsDefault,
      ...(after === undefined ? {} : { after }),
    });
    const last = page.items.at(-1);
    const nextPageToken = page.more && last !== undefined ? writePageToken(listing, { no: last.no }) : '';
    return { sessions: page.items, nextPageToken };
  },
};
