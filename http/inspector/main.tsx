import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './ui/app.tsx';
import './styles/page.css';

const page = document.getElementById('page');
if (page === null) throw new Error('the page has no place for its contents');
createRoot(page).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
