import path from 'node:path';
import { describeContent } from './content-cases.ts';

describeContent('memory', () => 'memory');
describeContent('sqlite', (folder) => `sqlite:${path.join(folder, 'content.db')}`);
