/** A media type without its parameters: `text/plain; charset=utf-8` → `text/plain`. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}
