/** English texts of the widget. The attribute `text-<key>` or the element's `texts` replaces each of them. */
export const englishTexts = {
  title: 'Ask a question',
  open: 'Open the chat',
  close: 'Close the chat',
  placeholder: 'Ask anything…',
  ask: 'Ask',
  stop: 'Stop',
  again: 'New conversation',
  asked: 'You asked:',
  writing: 'The answer is being written.',
  answered: 'The answer is here.',
  stopped: 'Stopped.',
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied.',
  sources: 'Sources',
  source: 'Source {number}: {title}',
  loading: 'Loading…',
  unavailable: 'The text of this page cannot be shown here.',
  page: 'Open the page',
  up: 'Helpful',
  down: 'Not helpful',
  flag: 'Report',
  reason: 'What is wrong with this answer?',
  category: 'Kind of problem',
  'wrong-info': 'Something is wrong',
  'missing-info': 'Something is missing',
  irrelevant: 'It does not answer the question',
  tone: 'The tone',
  other: 'Something else',
  send: 'Send',
  cancel: 'Cancel',
  thanks: 'Thank you. A curator will read it.',
  offline: 'You are offline. Your question is still here: try again once you are connected.',
  unreachable: 'The server cannot be reached. Your question is still here.',
  limited: 'Too many questions in a short time. Try again in {seconds} seconds.',
  'limited-today': 'The questions of today are used up. Try again tomorrow.',
  disabled: 'This chat is switched off.',
  foreign: 'This page may not use the chat: its address is not among those of the site.',
  cut: 'The answer was cut off.',
  failed: 'The question could not be answered.',
} as const

export type TextKey = keyof typeof englishTexts
/** Returns a text with its placeholders, names in braces, replaced by values. */
export type Say = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string

export function fillIn(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole))
}
