import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'

export type ReceivedMail = {
  to: string[]
  /** Headers by lower-case name, unfolded and decoded. */
  headers: Record<string, string>
  raw: string
  /** The parts' texts, decoded: plain and HTML. */
  text: string
  html: string
  isSecure: boolean
  user: string | undefined
}

/** A real mail server on this machine. `refuse`: what it answers to a recipient, instead of taking the mail. */
export async function mailServerOf(
  refuse: (address: string) => number | undefined = () => undefined,
  options: SMTPServerOptions = {},
): Promise<{ url: string; mails: ReceivedMail[]; close: () => Promise<void> }> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      password === 'secret' ? done(null, { user: username }) : done(new Error('wrong')),
    onRcptTo: ({ address }, _session, done) => {
      const responseCode = refuse(address)
      done(responseCode === undefined ? null : Object.assign(new Error(`no ${address}`), { responseCode }))
    },
    onData: (stream, { envelope, secure, user }, done) => {
      text(stream).then((raw) => {
        mails.push({
          to: envelope.rcptTo.map(({ address }) => address),
          raw,
          ...parsed(raw),
          isSecure: secure,
          user: user?.toString(),
        })
        done()
      }, done)
    },
    ...options,
  })
  const close = () => new Promise<void>((resolve) => server.close(resolve))
  const listening = server.listen(0, '127.0.0.1')
  await new Promise((resolve) => listening.once('listening', resolve))
  onTestFinished(close)
  const { port } = listening.address() as AddressInfo
  return { url: `smtp://127.0.0.1:${port}`, mails, close }
}

function parsed(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const [head = '', ...body] = raw.split('\r\n\r\n')
  const headers = headersOf(head)
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1] ?? '-'
  const parts = body.join('\r\n\r\n').split(`--${boundary}`).slice(1, -1)
  const [plain = '', html = ''] = parts.map((part) => {
    const [partHead = '', ...rest] = part.trimStart().split('\r\n\r\n')
    const content = rest.join('\r\n\r\n').trimEnd()
    const encoding = headersOf(partHead)['content-transfer-encoding']
    if (encoding === 'base64') return Buffer.from(content, 'base64').toString()
    return encoding === 'quoted-printable' ? unquoted(content.replaceAll('=\r\n', '')) : content
  })
  return { headers, text: plain.replaceAll('\r\n', '\n'), html: html.replaceAll('\r\n', '\n') }
}

function headersOf(head: string): Record<string, string> {
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      decoded(line.slice(line.indexOf(':') + 1).trim()),
    ]),
  )
}

/** RFC 2047. */
function decoded(value: string): string {
  return value
    .replaceAll(/\?= +=\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : unquoted(word.replaceAll('_', ' ')),
    )
}

function unquoted(content: string): string {
  return Buffer.from(
    content.replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  ).toString()
}
