import { COMMON_OPTIONS, DEFAULT_AGENT, type Flags, Resolver } from './client-options.ts';
import type { Io } from './io.ts';
import { field } from './render-text.ts';
import type { Source } from './settings.ts';

const DEFAULTS: Readonly<Record<string, string>> = {
  'agent-card': DEFAULT_AGENT,
  output: 'text',
  'a2a-version': '1.0',
  'poll-interval': '2s',
};
const SECRETS: ReadonlySet<string> = new Set(['bearer', 'api-key', 'svc-param']);

/** `config show`: the value of each setting and where it comes from. It changes nothing and shows no secret. */
export function showConfig(io: Io, flags: Flags): void {
  const from = new Resolver(io, flags);
  const rows = COMMON_OPTIONS.map((option) => {
    const { value, source } = resolved(from, flags, option);
    const shown = value === undefined ? (DEFAULTS[option] ?? '') : SECRETS.has(option) ? '[redacted]' : value;
    return { option, value: shown, source: sourceText(source) };
  });
  if (from.text('output').value === 'json') {
    io.out(`${JSON.stringify(Object.fromEntries(rows.map(({ option, ...row }) => [option, row])), null, 2)}\n`);
    return;
  }
  for (const { option, value, source } of rows)
    io.out(field(option, value === '' ? `(${source})` : `${value} (${source})`));
}

function resolved(
  from: Resolver,
  flags: Flags,
  option: string,
): { readonly value: string | undefined; readonly source: Source } {
  if (option === 'svc-param' || option === 'transport') {
    const { value, source } = from.list(option);
    return { value: value.length === 0 ? undefined : value.join(','), source };
  }
  const name = option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (typeof flags[name] === 'boolean') return { value: String(flags[name]), source: 'flag' };
  return from.text(option);
}

function sourceText(source: Source): string {
  return typeof source === 'string' ? source : source.file;
}
