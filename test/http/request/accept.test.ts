import { expect, test } from 'vitest'
import { prefersEventStream } from '../../../src/http/request/accept.ts'

test.each([
  'text/event-stream',
  'TEXT/Event-Stream',
  ' text/event-stream ; q=0.5 ',
  'text/event-stream;charset=utf-8',
  'application/json, text/event-stream',
  'text/event-stream, */*',
  'text/event-stream;q=0.9, application/json;q=0.8',
  'application/json;q=0, */*',
  'text/*',
  'text/event-stream;x="a, b; q=0"',
  'application/json;x="\\",text/html";q=0.2, text/event-stream;q=0.3',
])('a stream for %s', (accept) => expect(prefersEventStream(accept)).toBe(true))

test.each([
  undefined,
  '',
  '*/*',
  'application/json',
  'text/html, application/xhtml+xml, */*;q=0.8',
  'text/event-stream;q=0',
  'text/event-stream;q=0.4, application/json;q=0.5',
  'text/event-stream;q=0.4, */*',
  'text/event-stream;q=high',
  'text/event-stream;q=2',
  'text/event-streams',
  'text/html',
  'application/json;x=", text/event-stream"',
  ',,;;,',
  '"',
])('JSON for %s', (accept) => expect(prefersEventStream(accept)).toBe(false))
