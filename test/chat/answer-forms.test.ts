import { describe, expect, test } from 'vitest'
import { mismatchWith } from '../../src/chat/extract/answer-forms.ts'

describe('what a question wants', () => {
  test.each([
    ['Who signs contracts?', 'Contracts are signed by Ada Byron.', 'Contracts are signed in blue ink.'],
    ['When did the gate open?', 'The gate opened on 4 May 2019.', 'The gate opened with a bang.'],
    ['When did the gate open?', 'The gate opened on the 4th May.', 'The gate opened in style.'],
    ['When is the porter paged?', 'It is paged when the gate breaks.', 'It is paged by bell.'],
    ['How long are tapes kept?', 'Tapes are kept for 30 days.', 'Tapes are kept in the cellar of building 4.'],
    ['How often is the gate painted?', 'The gate is painted daily.', 'The gate is painted blue.'],
    ['How many lifts has the house?', 'The house has three lifts.', 'The house has lifts like SEV1.'],
    ['How many users are there?', 'There are 7 users.', 'Ticket #4421 adds users.'],
    ['How much does lift 4 carry?', 'Lift 4 carries 300 kg.', 'Lift 4 is the biggest.'],
    ['Who built the Grand Gate?', 'It was built by Ada.', 'It stands at the Grand Gate.'],
    ['When was gate 2.0 released?', 'Gate 2.0 was released in 2019.', 'Gate 2.0 was released with a bang.'],
    ['Since which version is it included?', 'It is included since 7.2.', 'It is included and tested.'],
    ['Which plans do not include support?', 'Free does not include support.', 'Team includes support.'],
    ['How do I stop the server?', 'Stop the server with a click.', 'Start the server with a click.'],
    ['How do I disable telemetry?', 'Disable it there.', 'Enable it there.'],
    ['How do I turn off the siren?', 'Turn off the siren there.', 'Turn on the siren there.'],
    ['How do I remove a user?', 'Remove users here.', 'Add users here.'],
  ])('%s "%s", and not "%s"', (asked, answers, doesNot) => {
    expect(mismatchWith(asked)(answers)).toBe(false)
    expect(mismatchWith(asked)(doesNot)).toBe(true)
  })

  test.each(['Why can I not open the gate?', 'Where are the keys?', 'Is it not free?'])('%s wants no form', (asked) => {
    expect(mismatchWith(asked)('The gate opens.')).toBe(false)
  })
})
