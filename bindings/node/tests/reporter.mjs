/* One line a test, as scripts/test wants them: pass NAME, fail NAME: why, skip NAME: why. */
function why(error) {
  const cause = error?.cause ?? error;
  return String(cause?.message ?? cause).split('\n').map(line => line.trim()).filter(Boolean).join(' ');
}

export default async function* lines(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name } = data;
    if (data.skip !== undefined) yield `skip ${name}: ${data.skip}\n`;
    else yield type === 'test:pass' ? `pass ${name}\n` : `fail ${name}: ${why(data.details.error)}\n`;
  }
}
