import { html } from 'hono/html'
import { createTransport } from 'nodemailer'
import { z } from 'zod'
import { oneLine, readableText } from '../../rules/text/lines.ts'
import { cutText } from '../../rules/text/whole-characters.ts'

/** Part of a mail. `quote`: quoted text of a person. */
type MailItem = { text: string; quote: string; url: string }

/** Mail to send. `id`, `thread`: for `Message-ID` and `References`. `more`: number of items that are left out. */
type OutgoingMail = Record<'id' | 'to' | 'subject' | 'stopUrl' | 'accountUrl', string> &
  Readonly<{ items: MailItem[]; thread: string | null; more: number }>

/** Reason why a mail was not accepted. `isOfServer`: the server accepts no mail now; `isFinal`: it will never accept this one. */
type Refusal = { why: string; isOfServer: boolean; isFinal: boolean }

export type SendMail = (mail: OutgoingMail) => Promise<Refusal | undefined>

/** Fields of an error of nodemailer. */
const Failure = z.object({ code: z.string().catch(''), command: z.string().catch(''), responseCode: z.int().catch(0) })

/** Timeouts in milliseconds. */
const patience = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 20_000 }
const [maxLine, maxQuote] = [300, 2_000]

/** Returns a function that sends mails by SMTP. `url` may contain a password, which is sent over TLS only, or to this machine. */
export function mailServer({ url, from }: { url: string; from: string }): SendMail {
  const { username, hostname } = new URL(url)
  const requireTLS = username !== '' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const transport = createTransport({ url, requireTLS, ...patience, disableFileAccess: true, disableUrlAccess: true })
  const host = from.slice(from.lastIndexOf('@') + 1)
  return (sent) => {
    const { to, subject, id, thread, stopUrl } = sent
    const mail = {
      ...{
        from: { name: 'Ganglion', address: from },
        to: { name: '', address: to },
        messageId: `<notice.${id}@${host}>`,
      },
      // References a first mail of the candidate that is never sent, so that clients group its mails.
      ...(thread !== null && { references: `<candidate.${thread}@${host}>` }),
      list: { unsubscribe: stopUrl },
      headers: { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click', 'Auto-Submitted': 'auto-generated' },
      ...{ subject: oneLine(subject, maxLine), ...mailText(sent) },
    }
    return transport.sendMail(mail).then(() => undefined, refusalOf)
  }
}

function refusalOf(error: unknown): Refusal {
  const { code, command, responseCode } = Failure.parse(Object(error))
  const isOfServer = !['RCPT TO', 'DATA', 'API'].includes(command)
  // The server's own message may contain the recipient's address.
  const why =
    responseCode === 0 ? `it cannot be sent (${code})` : `the mail server answered ${responseCode} to ${command}`
  return { why, isOfServer, isFinal: !isOfServer && (responseCode === 0 || responseCode >= 500) }
}

/** Returns a mail as plain text and as HTML. Text of people is escaped, and on one line or in a quotation. */
function mailText({ items, more, stopUrl, accountUrl }: OutgoingMail): { text: string; html: string } {
  const plain: string[] = []
  const markup: unknown[] = []
  for (const { text: said, quote, url } of items) {
    const text = oneLine(said, maxLine)
    const lines = quote === '' ? [] : cutText(readableText(quote, ''), maxQuote).split('\n')
    const quoted = lines.length > 0 && html`<blockquote>${lines.map((line) => html`${line}<br>`)}</blockquote>`
    plain.push([text, ...lines.map((line) => `> ${line}`), url].join('\n'))
    markup.push(html`<p><a href="${url}">${text}</a></p>${quoted}`)
  }
  const rest = more > 0 ? [`And ${more} more.`] : []
  const links = html`<a href="${accountUrl}">Choose when you get mails</a> · <a href="${stopUrl}">Stop these mails</a>`
  return {
    text: [...plain, ...rest, `-- \nChoose when you get mails: ${accountUrl}\nStop these mails: ${stopUrl}\n`].join(
      '\n\n',
    ),
    html: `<!doctype html><html lang="en"><body>${markup.join('')}${rest.join()}<hr><p>${links}</p></body></html>`,
  }
}
